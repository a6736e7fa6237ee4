// Package squidconf reads squid.conf as Squid does, and converts it to the configuration of urnd.
//
// It is pure: files are read by functions that are passed. What cannot be carried over exactly is reported, and rules never allow
// more than http_access did: one that allows, allows less, and one that denies, denies more.
package squidconf
