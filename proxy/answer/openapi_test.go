package answer_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// The document names the server by a relative URL, relative to the document (OpenAPI 3.1 section 4.8.5).
func TestServerOfOpenAPI(t *testing.T) {
	var d struct{ Servers []struct{ URL string } }
	if err := json.Unmarshal(answer.StaticDocuments()[route.PathOpenAPI].Reply(nil).Body, &d); err != nil ||
		len(d.Servers) != 1 {
		t.Fatalf("%v, %+v", err, d)
	}
	at, err := url.Parse("https://urnd.example:444/api/v1/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if server, err := at.Parse(d.Servers[0].URL); err != nil || server.Host != at.Host || server.Scheme != at.Scheme ||
		server.Path != "/" {
		t.Errorf("the document names %s, %v", server, err)
	}
}

// The document lists the services that a batch offers.
func TestServicesOfBatch(t *testing.T) {
	type parameter struct {
		Name   string
		Schema struct{ Enum []string }
	}
	var d struct {
		Paths map[string]struct {
			Post struct{ Parameters []parameter }
		}
	}
	if err := json.Unmarshal(answer.StaticDocuments()[route.PathOpenAPI].Reply(nil).Body, &d); err != nil {
		t.Fatal(err)
	}
	all := d.Paths[route.PathResolve].Post.Parameters
	i := slices.IndexFunc(all, func(p parameter) bool { return p.Name == "service" })
	if i < 0 {
		t.Fatalf("%+v", all)
	}
	s := start(t, nil)
	for _, service := range []resolver.Service{
		resolver.I2L, resolver.I2Ls, resolver.I2C, resolver.I2N, resolver.I2Ns, resolver.I2R, resolver.I2Rs,
	} {
		_, lines := s.batch(t, "?service="+service.String(), "text/plain", "urn:isbn:0395363411")
		offers := !strings.Contains(strings.Join(lines, ""), `"status":501`)
		if slices.Contains(all[i].Schema.Enum, service.String()) != offers {
			t.Errorf("%s is offered: %v, but %v is documented", service, offers, all[i].Schema.Enum)
		}
	}
}
