// Package clients contains the end-to-end tests of urnd as the forward proxy (RFC 9110 section 3.7) of real
// clients: curl, wget, apt, go, pip and Chromium, and of its APIs with clients generated from the OpenAPI
// documents. The clients run with urnd as their proxy; their output and the requests at the origin are checked.
package clients
