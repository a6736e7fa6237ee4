package api

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// ResponseSelection is a set of stored responses. Exactly one of its fields is set.
type ResponseSelection struct {
	URI    uri.URI // in canonical form
	Prefix string  // of canonical URIs
	Host   Host
	// Tag is a value of Surrogate-Key, Cache-Tag or Cache-Groups.
	Tag string
	All bool
}

// Has reports whether the responses for a canonical URI are in the set, as far as the URI decides it.
func (s ResponseSelection) Has(key string) bool {
	switch {
	case s.URI.IsValid():
		return key == s.URI.String()
	case s.Host != Host{}:
		return s.Host.has(key)
	default:
		return strings.HasPrefix(key, s.Prefix)
	}
}

// Host is a host in canonical form, with any scheme; without a port it includes all ports.
type Host struct{ name, port string }

// String returns the form that ParseHost parses, "" for the zero value.
func (h Host) String() string {
	if h.port == "" {
		return h.name
	}
	return h.name + ":" + h.port
}

func (h Host) has(key string) bool {
	u, err := uri.Parse(key)
	if err != nil {
		return false
	}
	name, _ := u.Host()
	port, ok := u.Port()
	if !ok {
		port = u.DefaultPort()
	}
	return uri.SameHost(name, h.name) && (h.port == "" || h.port == port)
}

// ParseHost parses a host, with or without a port.
func ParseHost(text string) (Host, error) {
	u, err := uri.Parse("http://" + text)
	if err == nil {
		err = u.Check()
	}
	if err != nil {
		return Host{}, fmt.Errorf("%w: the host %q: %w", problem.ErrSelection, text, err)
	}
	if authority, _ := u.Authority(); authority != text || strings.Contains(text, "@") {
		return Host{}, fmt.Errorf("%w: %q is not a host, with or without port", problem.ErrSelection, text)
	}
	name, _ := u.Normalize().Host()
	port, _ := u.Port()
	return Host{name, strings.TrimLeft(port, "0")}, nil
}

// responseSelectionOf returns the selection of the parameters, exactly one of which is required.
func (a *API) responseSelectionOf(given map[string]string) (s ResponseSelection, err error) {
	if len(given) != 1 {
		return s, fmt.Errorf("%w: exactly one of uri, prefix, host, tag and all=true is required", problem.ErrSelection)
	}
	for name, value := range given {
		switch name {
		case "uri":
			s.URI, err = a.KeyOf(value)
		case "prefix":
			scheme, _, ok := strings.Cut(value, ":")
			if s.Prefix = value; !ok || !a.HasResponses(scheme) {
				err = fmt.Errorf("%w: prefix must begin with a scheme whose responses are stored, such as http:// "+
					"or gopher://", problem.ErrSelection)
			}
		case "host":
			s.Host, err = ParseHost(value)
		case "tag":
			s.Tag = value
		case "all":
			s.All, err = all(value)
		}
	}
	return s, err
}

// KeyOf returns the canonical form of a URL, which is the key of its stored responses.
func (a *API) KeyOf(text string) (uri.URI, error) {
	u, err := uri.ParseRaw(text)
	if err == nil {
		err = u.Check()
	}
	if err != nil {
		return uri.URI{}, err
	}
	u = u.WithoutFragment().Normalize()
	if !a.HasResponses(u.Scheme()) {
		return uri.URI{},
			fmt.Errorf("%w: only URLs of http, https and gateways have stored responses; use /api/v1/cache/entries "+
				"for names", problem.ErrSelection)
	}
	return u, nil
}

// selectionOf returns the selection of the parameters of a purge, and whether it is soft, which is the default.
func selectionOf(given map[string]string) (s resolver.Selection, soft bool, err error) {
	mode, ok := given["mode"]
	delete(given, "mode")
	if soft = !ok || mode == modeSoft; !soft && mode != modeHard {
		return s, false, fmt.Errorf("%w: mode must be soft or hard", problem.ErrSelection)
	}
	if len(given) != 1 {
		return s, false, fmt.Errorf("%w: exactly one of uri, namespace, prefix and all=true is required",
			problem.ErrSelection)
	}
	for name, value := range given {
		err = set(&s, name, value)
	}
	return s, soft, err
}

// set sets one parameter of a selection.
func set(s *resolver.Selection, name, value string) (err error) {
	switch name {
	case "uri":
		s.Name, err = uri.Parse(value)
	case "namespace":
		if s.Namespace = strings.ToLower(value); uri.CheckNID(value) != nil {
			err = fmt.Errorf("%w: %q is not a NID", problem.ErrSelection, value)
		}
	case "prefix":
		s.Prefix = value
	case "all":
		s.All, err = all(value)
	}
	return err
}

// parametersOf returns the parameters of a request. Empty ones are ignored, since form fields may be empty.
// Unknown and repeated parameters are errors: ignoring one of them would purge more than requested. Those of
// lists may be repeated.
func parametersOf(
	r *http.Request, known, lists []string,
) (given map[string]string, several map[string][]string, err error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", problem.ErrSelection, err)
	}
	given, several = make(map[string]string), make(map[string][]string)
	for name, values := range q {
		switch {
		case slices.Contains(lists, name):
			several[name] = values
		case len(values) > 1:
			return nil, nil, fmt.Errorf("%w: duplicate parameter %q", problem.ErrSelection, name)
		case !slices.Contains(known, name):
			return nil, nil, fmt.Errorf("%w: unknown parameter %q", problem.ErrSelection, name)
		case values[0] != "":
			given[name] = values[0]
		}
	}
	return given, several, nil
}

// boolean parses a boolean parameter; it is false if it is missing.
func boolean(name, value string) (bool, error) {
	if value != "" && value != "true" && value != "false" {
		return false, fmt.Errorf("%w: %s must be true or false", problem.ErrSelection, name)
	}
	return value == "true", nil
}

// all parses the parameter "all".
func all(value string) (bool, error) {
	is, err := boolean("all", value)
	if err == nil && !is {
		err = fmt.Errorf("%w: all must be true or left out", problem.ErrSelection)
	}
	return is, err
}
