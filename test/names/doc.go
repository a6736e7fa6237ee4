// Package names has the end-to-end tests of the resolution of names: by the DNS, THTTP, rules and the forms in which
// people write names.
package names
