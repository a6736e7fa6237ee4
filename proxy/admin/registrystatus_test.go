package admin_test

import (
	"net/http"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

// A reserved name becomes active with its first target, and a withdrawn one only on request.
func TestStatusOfChanges(t *testing.T) {
	reserved := registry.Record{Status: registry.Reserved}
	withdrawn := registry.Record{
		Status: registry.Withdrawn, Reason: "why",
		Targets: []registry.Target{{URI: "https://a.example/old"}},
	}
	for _, tt := range []struct {
		name, request, body string
		before              registry.Record
		status              int
		want                registry.Status
	}{
		{
			"first target", "PATCH", `{"targets":[{"uri":"https://a.example/"}]}`, reserved, http.StatusOK,
			registry.Active,
		},
		{"an alias", "PATCH", `{"alias":"urn:nbn:fi:b"}`, reserved, http.StatusOK, registry.Active},
		{"no target", "PATCH", `{"contact":"anna"}`, reserved, http.StatusOK, registry.Reserved},
		{
			"said to be reserved", "PATCH", `{"targets":[{"uri":"https://a.example/"}],"status":"reserved"}`, reserved,
			http.StatusOK, registry.Reserved,
		},
		{
			"withdrawn", "PATCH", `{"targets":[{"uri":"https://a.example/"}]}`, withdrawn, http.StatusOK,
			registry.Withdrawn,
		},
		{"active again", "PATCH", `{"status":"active"}`, withdrawn, http.StatusOK, registry.Active},
		{
			"replaced", "PUT", `{"targets":[{"uri":"https://a.example/"}]}`, withdrawn, http.StatusUnprocessableEntity,
			registry.Withdrawn,
		},
		{
			"replaced and active", "PUT", `{"targets":[{"uri":"https://a.example/"}],"status":"active"}`, withdrawn,
			http.StatusOK, registry.Active,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, nil)
			key := registry.Name("urn:nbn:fi:a")
			edit := registry.Edit{Key: key, IfVersion: registry.AnyVersion, Change: registry.Put(tt.before)}
			if _, err := s.registry.Apply(t.Context(), registry.Actor{Name: "root", Role: registry.Admin},
				edit); err != nil {
				t.Fatal(err)
			}
			r := s.ask(tt.request+" /api/v1/names?uri=urn:nbn:fi:a", tt.body, `If-Match: "1"`)
			e, err := s.registry.Get(t.Context(), key)
			if r.status != tt.status || err != nil || e.Status != tt.want {
				t.Errorf("%d %s; then it is %s, %v; want %d and %s", r.status, r.body, e.Status, err,
					tt.status, tt.want)
			}
		})
	}
}
