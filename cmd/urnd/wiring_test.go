package main

import (
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver"
)

// wiredAll is all that is wired from a configuration, without a daemon.
type wiredAll struct {
	*resolution
	service *service
}

func (w wiredAll) close() {
	w.service.close()
	w.resolution.close()
}

func wireAll(c config.Config, d dependencies) (wiredAll, error) {
	r, err := newResolution(c, d.resolverDependencies)
	if err != nil {
		return wiredAll{}, err
	}
	s, err := newService(c, r, d)
	return wiredAll{r, s}, err
}

// resolvable returns the query for the location of a URI.
func resolvable(t testing.TB, text string) resolver.Query {
	t.Helper()
	q, err := resolver.ParseQuery(text, resolver.I2L)
	if err != nil {
		t.Fatal(err)
	}
	return q
}
