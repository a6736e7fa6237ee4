package registry

import (
	"context"
	"errors"
	"strings"
)

// hostQuery is what the text of Search.Target says of the host of targets.
type hostQuery struct {
	name   string
	domain bool // hosts below it are meant, too, and all of their targets
}

// findHost sets the host of a search whose text names one, if it can be searched for by its index: a text that may also be a part of a host or
// of a path names a host only if some target has it.
func (r *Registry) findHost(ctx context.Context, s *Search) error {
	if s.Kind != KindName || !s.At.IsZero() || s.AliasOf != "" {
		return nil
	}
	q, certain := hostQueryOf(s.Target)
	if q.name == "" || certain {
		if certain {
			s.host = &q
		}
		return nil
	}
	return r.config.Store.Read(ctx, func(tx Tx) error {
		some, err := tx.ByHost(q.name, q.domain, "", "", 1)
		if len(some) > 0 {
			s.host = &q
		}
		if errors.Is(err, ErrInvalid) {
			return nil // it has too many hosts below it: all entries are read
		}
		return err
	})
}

// hostQueryOf returns what a text in lower case says of a host, if it may name one. certain is whether a target with the text has that host.
func hostQueryOf(text string) (q hostQuery, certain bool) {
	scheme, rest, ok := strings.Cut(text, "//")
	if ok && (scheme == "" || strings.HasSuffix(scheme, ":")) {
		host := HostOf(text)
		return hostQuery{name: host}, host != "" && strings.ContainsAny(rest, "/?#")
	}
	if ok || !strings.Contains(text, ".") || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" || strings.Trim(text, ".-") != text {
		return hostQuery{}, false
	}
	return hostQuery{name: text, domain: true}, false
}

// HostOf returns the host of a URI, in lower case and without a final dot; "" if it has none: what is between "//" and what ends an
// authority, without user and port (RFC 3986 section 3.2).
func HostOf(text string) string {
	scheme, rest, ok := strings.Cut(text, "//")
	if !ok || scheme != "" && strings.IndexByte(scheme, ':') != len(scheme)-1 {
		return ""
	}
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if bracket := strings.IndexByte(host, ']'); bracket > 0 { // an address of IPv6 has colons
		host = host[:bracket+1]
	} else if port := strings.IndexByte(host, ':'); port >= 0 {
		host = host[:port]
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}
