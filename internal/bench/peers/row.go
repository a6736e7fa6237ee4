//go:build linux

package main

import (
	"fmt"
	"slices"
	"strings"
)

// form is the kind of a request.
type form int

const (
	redirect   form = iota // of a name, in origin-form
	forward                // absolute-form, RFC 9112 section 3.2.2
	gateway                // origin-form with the host of the gateway
	download               // CONNECT, RFC 9110 section 9.3.6; the server sends
	upload                 // the same; the client sends
	registered             // of a name in the registry, in origin-form; each request has a different name
	ftpFile                // absolute-form, for a resource of an FTP server
	ftpDirectory
)

// freshness determines how many of the requests reach the origin.
type freshness int

const (
	never  freshness = iota // served from the cache
	always                  // no-store
	once                    // each URL is new and is stored
)

// row is a row of the table: requests of one kind.
type row struct {
	title  string
	form   form
	size   int // of the body, in bytes
	origin freshness
	batch  int // pipelined requests in one write (RFC 9112 section 9.3.2), or HTTP/2 streams; 0 is one
	link   link
	manner manner
	with   feature // of the server
	users  bool    // each request has a different user
	event  event
}

const (
	kibibyte = 1 << 10
	mebibyte = 1 << 20
)

// rows returns the rows whose titles contain one of the texts in part, which are separated by |.
func rows(part string) []row {
	all := []row{
		{title: "cached redirect of a URN", form: redirect},
		{title: "cached redirect, 16 pipelined", form: redirect, batch: 16},
		{title: "forward, cached, 1 KiB", form: forward, size: kibibyte},
		{title: "forward, cached, 64 KiB", form: forward, size: 64 * kibibyte},
		{title: "forward, cached, 1 MiB", form: forward, size: mebibyte},
		{title: "forward, no-store, 1 KiB", form: forward, size: kibibyte, origin: always},
		{title: "forward, miss, 1 KiB", form: forward, size: kibibyte, origin: once},
		{title: "gateway, cached, 1 KiB", form: gateway, size: kibibyte},
		{title: "gateway, cached, 64 KiB", form: gateway, size: 64 * kibibyte},
		{title: "gateway, cached, 1 MiB", form: gateway, size: mebibyte},
		{title: "gateway, no-store, 1 KiB", form: gateway, size: kibibyte, origin: always},
		{title: "gateway, miss, 1 KiB", form: gateway, size: kibibyte, origin: once},
		{title: "CONNECT, download, per MiB", form: download, origin: always},
		{title: "CONNECT, upload, per MiB", form: upload, origin: always},
		{title: "registry name, not cached", form: registered},
		{title: "TLS, cached redirect", form: redirect, link: overTLS},
		{title: "HTTP/2, cached redirect", form: redirect, link: overHTTP2},
		{title: "HTTP/2, cached redirect, 16 streams", form: redirect, link: overHTTP2, batch: 16},
		{title: "HTTP/2, gateway, cached, 1 KiB", form: gateway, size: kibibyte, link: overHTTP2},
		{title: "one request a connection, client closes", form: redirect, manner: closing},
		{title: "one request a connection, Connection: close", form: redirect, manner: connectionClose},
		{title: "one request a connection by TLS", form: redirect, link: overTLS, manner: closing},
		{title: "half load, cached redirect", form: redirect, manner: halfLoad},
		{title: "half load, gateway, cached, 1 KiB", form: gateway, size: kibibyte, manner: halfLoad},
		{title: "half load, gateway, no-store, 1 KiB", form: gateway, size: kibibyte, origin: always, manner: halfLoad},
		{title: "half load, HTTP/2, cached redirect", form: redirect, link: overHTTP2, manner: halfLoad},
		{title: "ftp, file of 1 MiB", form: ftpFile, size: mebibyte, origin: always},
		{title: "ftp, directory of 1,000 entries", form: ftpDirectory, origin: always},
		{title: "forward, cached, a list of a million hosts", form: forward, size: kibibyte, with: hosts},
		{title: "forward, cached, the user has logged in", form: forward, size: kibibyte, with: logins},
		{title: "forward, cached, each user logs in", form: forward, size: kibibyte, with: logins, users: true},
		{title: "event: start, and resident memory", form: forward, size: kibibyte, event: started},
		{
			title: "event: start with a list of a million hosts, and resident memory", form: forward, size: kibibyte,
			with: hosts, event: started,
		},
		{title: "event: the list has a host more", form: forward, size: kibibyte, with: hosts, event: listReplaced},
		{
			title: "event: the first parent ends", form: forward, size: kibibyte, origin: always, with: parents,
			event: parentEnds,
		},
		{
			title: "event: the first parent is back", form: forward, size: kibibyte, origin: always, with: parents,
			event: parentBack,
		},
		{
			title: "event: the first parent is silent", form: forward, size: kibibyte, origin: always, with: parents,
			event: parentSilent,
		},
		{title: "idle connection", form: redirect, manner: idleConnections},
		{title: "idle connection by TLS", form: redirect, link: overTLS, manner: idleConnections},
	}
	return slices.DeleteFunc(all, func(r row) bool {
		return !slices.ContainsFunc(strings.Split(part, "|"),
			func(one string) bool { return strings.Contains(r.title, one) })
	})
}

func (r row) ftp() bool { return r.form == ftpFile || r.form == ftpDirectory }

func (r row) isRedirect() bool { return r.form == redirect || r.form == registered }

// location returns the redirect target of the first request of a row.
func (r row) location() string {
	if r.form == registered {
		return registeredTarget(registeredName(0))
	}
	return location
}

func (r row) isEvent() bool { return r.event != noEvent }

func (r row) tunnel() bool { return r.form == download || r.form == upload }

// Host of the gateway, and the redirected name with its target.
const (
	gatewayHost = "gateway.example"
	namePath    = "/urn:example:book:2648"
	location    = "https://books.example/book:2648"
)

// place returns the host and the target of the n-th request of the row. They only depend on n in rows with
// distinct URLs.
func (r row) place(at place, n uint64) (host, target string) {
	path := fmt.Sprintf("/cached/%d", r.size)
	switch r.origin {
	case always:
		path = fmt.Sprintf("/no-store/%d", r.size)
	case once:
		path = fmt.Sprintf("/cached/%d/%d-%d", r.size, r.form, n)
	case never:
	}
	switch r.form {
	case ftpFile, ftpDirectory:
		return at.FTP, "ftp://" + at.FTP + r.ftpPath()
	case redirect:
		return r.address(at), namePath
	case registered:
		return r.address(at), "/" + registeredName(n)
	case forward:
		if r.with != none {
			return wantedHost, "http://" + wantedHost + path
		}
		return at.Origin, "http://" + at.Origin + path
	case gateway, download, upload:
	}
	return gatewayHost, path
}

// request returns the n-th request of the row for HTTP/1.1.
func (r row) request(at place, n uint64) []byte {
	host, target := r.place(at, n)
	fields := ""
	if r.ftp() { // forces caches to request all of it from the server
		fields = "Cache-Control: no-cache, no-store\r\n"
	}
	if r.with == logins {
		user := uint64(0)
		if r.users {
			user = n
		}
		fields += login(user)
	}
	if r.manner == connectionClose {
		fields += "Connection: close\r\n"
	}
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: peers\r\nAccept: */*\r\n%s\r\n", target,
		host, fields)
}

// address returns the server address for the requests of the row.
func (r row) address(at place) string {
	switch {
	case r.link != plain:
		return at.Secure
	case r.form == redirect || r.form == registered || r.form == gateway:
		return at.Gateway
	}
	return at.Forward
}
