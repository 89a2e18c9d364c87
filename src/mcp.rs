//! The protocol edge: MCP over Streamable HTTP and stdio, both eras on one path.
