package netguard

import (
	"errors"
	"net"
)

// hidden is an error whose text does not say which address a name has: it may be shown to
// clients, who must not learn the addresses of the internal network.
type hidden struct {
	text   string
	detail error
}

func (h *hidden) Error() string { return h.text }

// Unwrap returns the error with its addresses.
func (h *hidden) Unwrap() error { return h.detail }

// Detail returns the text of an error about a connection with the addresses that the error does
// not show, for logs, "" where it has none.
func Detail(err error) string {
	var h *hidden
	if !errors.As(err, &h) {
		return ""
	}
	return h.detail.Error()
}

// Public returns the text of an error of ErrForbidden for clients, who must not learn which address a name has.
func Public(err error) string {
	var refused *refusal
	if errors.As(err, &refused) {
		return ErrForbidden.Error() + ": " + refused.public
	}
	for _, known := range [...]error{ErrOwn, errSpelling, errLabels} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return ErrForbidden.Error()
}

// Code returns which error of ErrForbidden it is, for clients, with the values of its message: pairs of a name and a text.
func Code(err error) (code string, values []string) {
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return refused.code, refused.values
	case errors.Is(err, ErrOwn):
		return "destination_is_this_server", nil
	case errors.Is(err, errSpelling):
		return "destination_is_number", nil
	case errors.Is(err, errLabels):
		return "destination_no_host", nil
	default:
		return "destination_forbidden", nil
	}
}

// hide returns the error of connecting to a name without its addresses.
func hide(err error) error {
	text := withoutAddresses(err)
	if text == err.Error() {
		return err
	}
	return &hidden{text, err}
}

func withoutAddresses(err error) string {
	var op *net.OpError
	var refused *refusal
	switch joined, ok := err.(interface{ Unwrap() []error }); {
	case ok:
		text := ""
		for _, one := range joined.Unwrap() {
			if text != "" {
				text += "; "
			}
			text += withoutAddresses(one)
		}
		return text
	case errors.As(err, &refused):
		return Public(refused)
	case errors.As(err, &op):
		return withoutEnds(op).Error()
	default:
		return err.Error()
	}
}

// withoutEnds returns an error of a connection without its addresses.
func withoutEnds(op *net.OpError) *net.OpError {
	changed := *op
	changed.Source, changed.Addr = nil, nil
	return &changed
}

// namedConn is a connection to a name, whose errors have no addresses.
type namedConn struct{ net.Conn }

func (c namedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, hideEnds(err)
}

func (c namedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, hideEnds(err)
}

func hideEnds(err error) error {
	op, ok := err.(*net.OpError) //nolint:errorlint // a connection returns it as it is
	if !ok {
		return err
	}
	return withoutEnds(op)
}
