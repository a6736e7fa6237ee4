// Package proxy contains the end-to-end tests of urnd as a proxy and gateway (RFC 9110, RFC 9112, RFC 9113),
// and of its operation: access control and logs, the admin listener, origins and upstream proxies, message
// framing, limits, and certificates. Real and scripted clients and servers exchange requests with a running
// urnd; responses, logs and metrics are checked.
package proxy
