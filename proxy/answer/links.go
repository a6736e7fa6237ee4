package answer

import (
	"net/http"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// addLinks adds the Link fields of a document about an identifier: RFC 8288, with the relations
// canonical (RFC 6596), alternate, describedby and service-desc (RFC 8631).
func addLinks(reply *message.Reply, q resolver.Query, canonical string) {
	if canonical == "" {
		return
	}
	class := "N"
	if !q.IsURN() {
		class = "L"
	}
	if reply.Header == nil {
		reply.Header = make(http.Header)
	}
	reply.Header["Link"] = []string{
		"<" + canonical + `>; rel="canonical"`,
		"<" + route.PathTHTTP + class + "2Ls?" + canonical + `>; rel="alternate"; type="text/uri-list"`,
		"<" + route.PathTHTTP + class + "2C?" + canonical + `>; rel="describedby"`,
		"<" + route.PathOpenAPI + `>; rel="service-desc"`,
	}
}
