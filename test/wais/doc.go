// Package wais tests the gateway to Z39.50 with a server that encodes and decodes by a library, which is another
// reading of X.690 than ours; it has no code but tests.
package wais
