// Package formats tests the documents of urnd with independent libraries: the JSON Schema of the configuration,
// the OpenAPI documents with all responses that they describe, graphs in JSON-LD and Turtle (W3C), and the
// proxy auto-configuration (PAC) file. It contains only tests. Documents and responses of urnd enter; errors
// and differences found by the libraries are reported.
package formats
