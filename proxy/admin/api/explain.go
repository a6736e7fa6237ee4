package api

import (
	"fmt"
	"net/http"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/uri"
)

// serveExplain explains how a request for a URL is served.
func (a *API) serveExplain(c *call) (message.Reply, error) {
	text := c.get("uri")
	if _, err := a.KeyOf(text); err != nil {
		return message.Reply{}, err
	}
	u, err := uri.ParseRaw(text)
	if err != nil {
		return message.Reply{}, err
	}
	fields, err := fieldsOf(c.lists["header"])
	if err != nil {
		return message.Reply{}, err
	}
	send, err := boolean("fetch", c.get("fetch"))
	if err != nil {
		return message.Reply{}, err
	}
	why, err := a.Responses.Explain(c.Context(), u, fields, send)
	if err != nil {
		return message.Reply{}, problem.Disclose(err)
	}
	if send {
		a.Log.InfoContext(c.Context(), "request sent to explain its caching", "client", c.RemoteAddr, "uri", why.URL)
	}
	return message.JSON(http.StatusOK, why), nil
}

// maxHeaders limits the header fields of an explained request.
const maxHeaders = 100

// fieldsOf parses header fields of the form "Name: value". Fields that frame or route a message are errors:
// urnd writes these itself.
func fieldsOf(lines []string) (fields httpmessage.Fields, err error) {
	if len(lines) > maxHeaders {
		return nil, fmt.Errorf("%w: more than %d header fields", problem.ErrSelection, maxHeaders)
	}
	for _, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch use := httpmessage.UseOf(name); {
		case !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value):
			return nil, fmt.Errorf("%w: header must have the form Name: value", problem.ErrSelection)
		case use&(httpmessage.HopByHop|httpmessage.Framing) != 0, strings.EqualFold(name, "Host"),
			strings.EqualFold(name, "Expect"):
			return nil, fmt.Errorf("%w: %s cannot be set: it belongs to the connection or to the URL",
				problem.ErrSelection, name)
		}
		fields.Add(name, value)
	}
	return fields, nil
}
