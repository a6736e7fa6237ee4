package http

import "github.com/urnd/urnd/resolver/scheme"

// takeBound returns the idle connection that a request is bound to; nil means that it must dial a new one. A
// connection that the request must not use is closed.
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

// endBound ends the BoundConn of a request, if it has one.
func endBound(r scheme.Request) {
	if r.Bound != nil {
		r.Bound.End()
	}
}
