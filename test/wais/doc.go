// Package wais tests the gateway to Z39.50 with a server that encodes and decodes BER (X.690) with a library,
// an implementation independent of urnd's. It contains only tests: URLs of documents and searches enter, and
// responses are compared with the library's interpretation.
package wais
