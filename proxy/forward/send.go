package forward

import (
	"net/http"
	"strconv"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/proxy/message"
)

// send sends an answer to the client. One whose source breaks off is broken off.
func (p *Proxy) send(w ResponseWriter, r *Request, a *httpcache.Answer) {
	if a.Content != nil {
		defer a.Content.Close()
	}
	header := w.Header()
	p.setFields(header, a)
	announced := make([]string, 0, len(a.Trailer))
	for name := range a.Trailer {
		announced = append(announced, name)
	}
	if len(announced) > 0 && a.ContentLength < 0 {
		header["Trailer"] = announced
	}
	switch {
	case a.ContentLength >= 0 && a.Status != http.StatusNotModified && a.Status != http.StatusNoContent:
		header["Content-Length"] = []string{strconv.FormatInt(a.ContentLength, 10)}
	case r.Method != http.MethodHead:
		delete(header, "Content-Length") // it may be that of another framing
	}
	w.SetReason(a.Status, a.Reason)
	w.WriteHeader(a.Status)
	if a.Content == nil || r.Method == http.MethodHead {
		return
	}
	control := http.NewResponseController(w)
	if err := a.Content.SendTo(w, func() { _ = control.Flush() }); err != nil { // it fails only where the client left
		message.Abort(w)
		return
	}
	for name, lines := range a.Trailer {
		header[http.TrailerPrefix+name] = lines
	}
	for _, name := range announced {
		header[name] = a.Trailer[name]
		delete(header, http.TrailerPrefix+name)
	}
}

// setFields sets the fields of an answer.
func (p *Proxy) setFields(header http.Header, a *httpcache.Answer) {
	for name, lines := range a.Header {
		if name != p.config.OwnField { // or there would be two
			header[name] = lines[:len(lines):len(lines)]
		}
	}
	for _, f := range a.Fields {
		header[f.Name] = []string{f.Value}
	}
	header["Via"] = append(header["Via"], p.config.Via.String())
	header["Cache-Status"] = append(header["Cache-Status"], a.Outcome.Status("urnd"))
	if _, ok := header["Content-Type"]; !ok {
		header["Content-Type"] = nil // net/http would guess one
	}
}

// sendInterim sends an interim response. Its fields are not those of the final one.
func sendInterim(w http.ResponseWriter, status int, fields http.Header) {
	header := w.Header()
	before := header.Clone()
	for name, lines := range passed(fields) {
		header[name] = lines
	}
	w.WriteHeader(status)
	clear(header)
	for name, lines := range before {
		header[name] = lines
	}
}
