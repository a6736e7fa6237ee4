package http

import "github.com/urnd/urnd/resolver/scheme"

// takeBound returns the connection that a request is bound to, nil where it is still to be made. It is not one that
// the request may not use.
func (h *Handler) takeBound(r *request) carrier {
	c, ok := r.Bound.Take().(*conn)
	if !ok {
		return nil
	}
	if c.handler == h && c.key == r.target.key && allows(r.check, c.from) && c.Alive() {
		return c
	}
	_ = c.Close()
	return nil
}

// endBound ends the connection that a request is bound to, if it is.
func endBound(r scheme.Request) {
	if r.Bound != nil {
		r.Bound.End()
	}
}
