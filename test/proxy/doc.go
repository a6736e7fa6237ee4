// Package proxy has the end-to-end tests of urnd as a proxy and as a server that is operated: access and its logs, the
// admin listener, origins and upstream proxies, the framing of messages, limits, and certificates.
package proxy
