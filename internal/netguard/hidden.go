package netguard

import (
	"errors"
	"net"
)

// hidden is an error whose text omits the addresses of a name. It may be shown to clients, which must not learn
// the addresses of the internal network.
type hidden struct {
	text   string
	detail error
}

func (h *hidden) Error() string { return h.text }

// Unwrap returns the error with addresses.
func (h *hidden) Unwrap() error { return h.detail }

// Detail returns the text of a connection error including the addresses that Error omits, for logs; "" if it
// omits none.
func Detail(err error) string {
	var h *hidden
	if !errors.As(err, &h) {
		return ""
	}
	return h.detail.Error()
}

// Public returns the text of an error that wraps ErrForbidden for clients, which must not learn the address of
// a name.
func Public(err error) string {
	var refused *denial
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

// Code returns the identifier of the message for an error that wraps ErrForbidden, and its parameters as
// alternating names and values.
func Code(err error) (code string, values []string) {
	var refused *denial
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

// hide returns a connection error whose text omits addresses.
func hide(err error) error {
	text := withoutAddresses(err)
	if text == err.Error() {
		return err
	}
	return &hidden{text, err}
}

func withoutAddresses(err error) string {
	var op *net.OpError
	var refused *denial
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

// withoutEnds returns a copy of a connection error without its addresses.
func withoutEnds(op *net.OpError) *net.OpError {
	changed := *op
	changed.Source, changed.Addr = nil, nil
	return &changed
}

// namedConn is a connection to a host name, whose errors omit addresses.
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
	op, ok := err.(*net.OpError) //nolint:errorlint // returned unwrapped by a connection
	if !ok {
		return err
	}
	return withoutEnds(op)
}
