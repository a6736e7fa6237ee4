// Package formats tests documents of urnd by the libraries of others that read them; it has no code but tests. These
// are the schema of the configuration, the OpenAPI documents with all that they describe, graphs in JSON-LD and
// Turtle, and the file by which browsers find the proxy.
package formats
