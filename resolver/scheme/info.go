package scheme

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Info describes a protocol gateway to the rest of urnd. It must not be changed while in use.
type Info struct {
	// Names are the schemes of the gateway, in lower case.
	Names []string
	// Noun is the noun for a resource of its servers in messages, such as "file"; "" is "resource".
	Noun string
	// Service describes in words what its servers are for, and OtherPorts lists the ports where they listen
	// besides the default ports of Names. They serve to warn where another protocol is made to connect to such
	// a port, which can do harm. An empty Service warns of none.
	Service    string
	OtherPorts []uint16
	// Setting is the name of the setting that enables the gateway, "" for none, and Enabled its value.
	Setting string
	Enabled bool
	// Ports are the ports that a URI may name.
	Ports Ports
	// Local is true if the gateway connects to no server.
	Local bool
	// Cacheable is true if responses may be stored. Browsable is true if browsers, which do not know the schemes,
	// are redirected to the page that urnd renders for a URI.
	Cacheable, Browsable bool
}

// Infos describes all protocol gateways, including disabled ones. A scheme belongs to at most one gateway. The
// zero value has no gateways.
type Infos []Info

// Find returns the gateway of a scheme, which must be in lower case.
func (all Infos) Find(scheme string) (info Info, ok bool) {
	i := slices.IndexFunc(all, func(info Info) bool { return slices.Contains(info.Names, scheme) })
	if i < 0 {
		return Info{}, false
	}
	return all[i], true
}

// Noun returns the noun for a resource of the scheme of the URI u in messages, "resource" without a gateway.
func (all Infos) Noun(u string) string {
	scheme, _, _ := strings.Cut(u, ":")
	info, _ := all.Find(strings.ToLower(scheme))
	return cmp.Or(info.Noun, "resource")
}

// Cacheable reports whether responses for URIs of a scheme, in lower case, may be stored. http and https are
// included. URIs of other schemes are names; resolution results are stored for them instead.
func (all Infos) Cacheable(scheme string) bool {
	info, _ := all.Find(scheme)
	return info.Cacheable || scheme == "http" || scheme == "https"
}

// Browsable reports whether a browser is redirected to the page that urnd renders for URIs of a scheme, in
// lower case.
func (all Infos) Browsable(scheme string) bool {
	info, _ := all.Find(scheme)
	return info.Browsable
}

// ServiceAt returns in words what gateway servers at a port are for, "" if none usually listens there.
func (all Infos) ServiceAt(port uint16) string {
	text := strconv.Itoa(int(port))
	for _, info := range all {
		isDefault := func(name string) bool { return uri.DefaultPortOf(name) == text }
		if info.Service != "" &&
			(slices.Contains(info.OtherPorts, port) || slices.ContainsFunc(info.Names, isDefault)) {
			return info.Service
		}
	}
	return ""
}
