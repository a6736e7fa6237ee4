package problem

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"syscall"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// Reason is an error whose text may be shown to clients, whatever it is wrapped in.
type Reason string

func (r Reason) Error() string { return string(r) }

// shown is an error of which clients are told all.
type shown struct{ error }

// Shown returns an error of which clients are told all, as administrators are of servers that they have asked for.
func Shown(err error) error {
	if err == nil {
		return nil
	}
	return shown{err}
}

func (s shown) Unwrap() []error { return []error{Reason(s.Error()), s.error} }

// words returns what clients are told of an error: in words what failed, without addresses, ports and paths of the network
// that urnd is in, which are for its log. It is the one place that decides so.
func words(err error) string {
	var reason Reason
	var negative *resolver.Negative
	var refusal *scheme.Refusal
	var denied *policy.Denied
	row := rowOf(err)
	switch {
	case errors.As(err, &reason):
		return reason.Error()
	case errors.As(err, &denied):
		return denied.Error()
	case errors.As(err, &refusal):
		return refusal.Error()
	case errors.As(err, &negative):
		return negative.Error()
	case errors.Is(err, netguard.ErrForbidden):
		return netguard.Public(err)
	case !row.inside && !isOfSystem(err):
		return err.Error()
	}
	if errors.Is(err, scheme.ErrUpstream) {
		return scheme.ErrUpstream.Error()
	}
	if says := typeOf(err).says; says != "" && (row.status == http.StatusBadGateway || row.status == http.StatusGatewayTimeout) {
		return says
	}
	return phrase(err, row.err)
}

// phrase returns what was said of a kind of errors where it was wrapped first: not what that was wrapped in, which may have
// addresses, and not what the system says.
func phrase(err, kind error) string {
	said := kind.Error()
	walk(err, func(e error) {
		for _, child := range children(e) {
			if child == kind && !isOfSystem(e) { //nolint:errorlint // this very error
				said = e.Error()
			}
		}
	})
	return said
}

// isOfSystem reports whether an error has one of connections, files or the operating system in it.
func isOfSystem(err error) bool {
	return has[*net.OpError](err) || has[*net.DNSError](err) || has[*net.AddrError](err) || has[*fs.PathError](err) ||
		has[*os.LinkError](err) || has[*os.SyscallError](err) || has[syscall.Errno](err)
}

// walk calls visit with err and all errors that it wraps.
func walk(err error, visit func(error)) {
	visit(err)
	for _, child := range children(err) {
		walk(child, visit)
	}
}

func children(err error) []error {
	switch e := err.(type) { //nolint:errorlint // the chain is walked
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	case interface{ Unwrap() error }:
		if child := e.Unwrap(); child != nil {
			return []error{child}
		}
	}
	return nil
}
