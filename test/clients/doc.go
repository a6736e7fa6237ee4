// Package clients has the end-to-end tests of urnd as the forward proxy of real clients: curl, wget, apt, go, pip and Chromium,
// and of its interfaces for programs whose clients are generated from the OpenAPI documents.
package clients
