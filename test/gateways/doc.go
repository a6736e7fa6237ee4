// Package gateways has the end-to-end tests of the gateways to FTP, gopher, news and the other schemes of RFC 1738.
package gateways
