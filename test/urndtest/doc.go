// Package urndtest starts the built urnd for end-to-end tests: a separate process with a configuration file, on
// free loopback ports. A change of the default configuration enters; a Daemon leaves, which tests use only like
// users: by its listeners, its log, its metrics and its exit status. The package also provides DNS servers,
// registries, certificates and a check of responses against OpenAPI documents.
//
// The program is built once per test process, unless the environment variable TEST_URND names it.
package urndtest
