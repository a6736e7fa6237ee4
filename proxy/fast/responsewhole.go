package fast

import "github.com/urnd/urnd/internal/httpmessage"

// TakesWhole reports whether the response may be written as octets that WriteWhole is given: nothing is set for it but a request
// identifier, and the connection does not end behind it.
func (r *Response) TakesWhole() bool {
	fields := len(r.header)
	if _, ok := r.header[httpmessage.RequestIDField]; ok {
		fields--
	}
	return fields == 0 && r.status == 0 && r.reason.text == "" && !r.closes && !r.conn.IsEnding()
}

// Room returns octets to which the response is appended, and the text of the field Date.
func (r *Response) Room() (octets, date []byte) { return r.out, r.date() }

// WriteWhole takes the octets of Room with those of the response, which has a length.
func (r *Response) WriteWhole(status int, octets []byte) {
	r.out, r.status, r.isStarted, r.framing, r.left = octets, status, true, framingLength, 0
}
