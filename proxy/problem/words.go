package problem

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/scheme"
)

// Reason is an error that clients are told of, whatever it is wrapped in: by a code, with the values of its message, which are pairs of a
// name and a text, and in English. Without a code it has that of what it wraps.
type Reason struct {
	Code   string
	Values []string
	Text   string
}

func (r *Reason) Error() string { return r.Text }

// shown is an error of which clients are told all.
type shown struct{ error }

// Shown returns an error of which clients are told all, as administrators are of servers that they have asked for.
func Shown(err error) error {
	if err == nil {
		return nil
	}
	return shown{err}
}

func (s shown) Unwrap() []error { return []error{&Reason{Text: s.Error()}, s.error} }

// told is what clients are told of an error: by a code for texts in their language, and in English.
type told struct {
	code   string
	values []string // of the message of the code: pairs of a name and a text
	detail string
	more   string // what detail says beyond that message; "" for nothing
}

// wordsOf returns what clients are told of an error: in words what failed, without addresses, ports and paths of the network
// that urnd is in, which are for its log. It is the one place that decides so.
func wordsOf(err error) told {
	var reason *Reason
	var negative *resolver.Negative
	var refusal *scheme.Refusal
	var denied *policy.Denied
	row := rowOf(err)
	switch {
	case errors.As(err, &reason):
		return row.told(reason.Code, reason.Values, reason.Text, reason.Text)
	case errors.As(err, &denied):
		return row.told(row.code, []string{"Rule", denied.Rule}, denied.Error(), "")
	case errors.As(err, &refusal) && (refusal.Own || refusal.Code != ""):
		return row.told(refusal.Code, refusal.Values, refusal.Error(), refusal.Error())
	case refusal != nil:
		return row.told(row.code, []string{"Reply", strconv.Quote(refusal.Reply)}, refusal.Error(), "")
	case errors.As(err, &negative):
		return row.told(negative.Code, negative.Values, negative.Error(), negative.Reason)
	case errors.Is(err, netguard.ErrForbidden):
		code, values := netguard.Code(err)
		return row.told(code, values, netguard.Public(err), "")
	case !row.inside && !isOfSystem(err):
		return row.all(err)
	case errors.Is(err, scheme.ErrUpstream):
		return row.told("upstream_refused", nil, scheme.ErrUpstream.Error(), "")
	}
	if t := typeOf(err); t.says != "" && (row.status == http.StatusBadGateway || row.status == http.StatusGatewayTimeout) {
		return row.told(t.code, nil, t.says, "")
	}
	return row.beyond(phrase(err, row.err))
}

// ofRegistry returns the error with a code of the registry, nil for others.
func ofRegistry(err error) (coded *registry.Error) {
	errors.As(err, &coded)
	return coded
}

// told returns what a code tells, or that of the row and more where it is "".
func (r *row) told(code string, values []string, detail, more string) told {
	if code == "" {
		return told{r.code, nil, detail, more}
	}
	return told{code, values, detail, ""}
}

// all returns what an error tells that clients see as it is.
func (r *row) all(err error) told {
	if coded := ofRegistry(err); coded != nil && parseOf(err) == nil {
		return r.told(coded.Code, coded.Values, err.Error(), "")
	}
	return r.beyond(err.Error())
}

// beyond returns what the code of the row tells, and what a text says beyond the error of the row.
func (r *row) beyond(text string) told {
	more, _ := strings.CutPrefix(text, r.err.Error())
	return told{r.code, nil, text, strings.TrimPrefix(more, ": ")}
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
