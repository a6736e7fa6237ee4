// Package gateways contains the end-to-end tests of the gateways to FTP, gopher, news and the other schemes of
// RFC 1738. URLs enter by a proxy request or /fetch; responses, and the connections to real and scripted
// servers, are checked.
package gateways
