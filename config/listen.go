package config

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
)

// maxPublicURL bounds listen.public_url, in octets: it is several times in each answer.
const maxPublicURL = 200

func checkPublicURL(f *Faults, path string, value any) {
	text, _ := value.(string)
	if text == "" {
		return
	}
	u, err := uri.Parse(text)
	if err == nil {
		err = u.Check()
	}
	_, hasQuery := u.Query()
	_, hasFragment := u.Fragment()
	_, hasUser := u.Userinfo()
	host, _ := u.Host()
	switch {
	case err != nil, u.Scheme() != "http" && u.Scheme() != "https", host == "", hasQuery, hasFragment, hasUser, strings.ContainsAny(text, ",;"):
		f.Add(path, "%q is no URL of a server, such as https://urn.example.org", text)
	case strings.HasSuffix(text, "/"):
		f.Add(path, "%q ends with a slash: write %s", text, strings.TrimRight(text, "/"))
	case len(text) > maxPublicURL:
		f.Add(path, "has more than %d octets", maxPublicURL)
	}
}

func checkListenList(f *Faults, path string, value any) {
	addresses, _ := value.([]string)
	for i, address := range addresses {
		checkListen(f, index(path, i), address)
	}
}

func checkOptionalListen(f *Faults, path string, value any) {
	if address, _ := value.(string); address != "" {
		checkListen(f, path, address)
	}
}

// UnixPrefix marks the address of a Unix domain socket.
const UnixPrefix = "unix:"

func checkAdminListen(f *Faults, path string, value any) {
	address, _ := value.(string)
	socket, isSocket := strings.CutPrefix(address, UnixPrefix)
	switch {
	case !isSocket:
		checkOptionalListen(f, path, value)
	case !strings.HasPrefix(socket, "/"):
		f.Add(path, "%q has no path that begins with a slash after unix:", address)
	}
}

func checkListen(f *Faults, path, address string) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		f.Add(path, "%q is not host:port%s", address, writeAddress(address, "127.0.0.1:8141"))
		return
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil {
		f.Add(path, "%q has no port between 0 and 65535", address)
	} else if _, err := netip.ParseAddr(host); host != "" && host != "localhost" && err != nil {
		f.Add(path, "%q does not begin with an IP address (port %d)", address, n)
	}
}
