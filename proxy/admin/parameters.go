package admin

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/urnd/urnd/proxy/problem"
)

// parametersOf returns the parameters of a request that are not empty, as the fields of a form may be.
// Others than the known ones, and those that are given twice, are errors: without one of them more
// would be purged.
func parametersOf(r *http.Request, known ...string) (map[string]string, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", problem.ErrSelection, err)
	}
	given := make(map[string]string)
	for name, values := range q {
		switch {
		case len(values) > 1:
			return nil, fmt.Errorf("%w: %q is given twice", problem.ErrSelection, name)
		case !slices.Contains(known, name):
			return nil, fmt.Errorf("%w: there is no parameter %q", problem.ErrSelection, name)
		case values[0] != "":
			given[name] = values[0]
		}
	}
	return given, nil
}

// boolean parses a parameter that is false where it is not given.
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
