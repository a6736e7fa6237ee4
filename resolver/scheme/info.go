package scheme

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/uri"
)

// Info is all that the rest of urnd must know of a protocol gateway. It must not be changed while in use.
type Info struct {
	// Names are the schemes that are retrieved by it, in lower case.
	Names []string
	// Noun is what its servers have, for a message: "file"; "" is "resource".
	Noun string
	// Service is what its servers are for, in words, and OtherPorts where they listen besides the default ports of Names: who
	// makes a program of another protocol connect to them may do harm. "" warns of none.
	Service    string
	OtherPorts []uint16
	// Setting is the setting that decides whether it retrieves anything, "" where none does, and Enabled whether it does.
	Setting string
	Enabled bool
	// Ports is which ports a URI may name.
	Ports Ports
	// Local is whether it connects to no server.
	Local bool
	// Stored is whether responses may be stored, and Browsable whether a browser, which does not know its schemes, is led
	// to what urnd makes of them.
	Stored, Browsable bool
}

// Infos are those of all protocol gateways, also of those that are turned off. A scheme is of one of them at most. The zero
// value has none.
type Infos []Info

// Of returns the gateway of a scheme, in lower case.
func (all Infos) Of(scheme string) (info Info, ok bool) {
	i := slices.IndexFunc(all, func(info Info) bool { return slices.Contains(info.Names, scheme) })
	if i < 0 {
		return Info{}, false
	}
	return all[i], true
}

// Noun returns what servers of the scheme of a URI have, for a message; of one without gateway "resource".
func (all Infos) Noun(u string) string {
	scheme, _, _ := strings.Cut(u, ":")
	info, _ := all.Of(strings.ToLower(scheme))
	return cmp.Or(info.Noun, "resource")
}

// IsStored reports whether responses may be stored for the URIs of a scheme, in lower case: those of http and https too. Of
// others, which are names, there are answers.
func (all Infos) IsStored(scheme string) bool {
	info, _ := all.Of(scheme)
	return info.Stored || scheme == "http" || scheme == "https"
}

// IsBrowsable reports whether a browser is led to what urnd makes of the URIs of a scheme, in lower case.
func (all Infos) IsBrowsable(scheme string) bool {
	info, _ := all.Of(scheme)
	return info.Browsable
}

// ServiceAt returns what servers of gateways at a port are for, in words; "" where none of them listens there as a rule.
func (all Infos) ServiceAt(port uint16) string {
	text := strconv.Itoa(int(port))
	for _, info := range all {
		isDefault := func(name string) bool { return uri.DefaultPortOf(name) == text }
		if info.Service != "" && (slices.Contains(info.OtherPorts, port) || slices.ContainsFunc(info.Names, isDefault)) {
			return info.Service
		}
	}
	return ""
}
