// Package clients has the end-to-end tests of urnd as the forward proxy of real clients: curl, wget, apt, go, pip and Chromium.
package clients
