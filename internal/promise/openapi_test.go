package promise

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// object is a JSON object of an OpenAPI document.
type object = map[string]any

// gatherOpenAPI reads the OpenAPI documents that urnd serves: a line for each operation, parameter, body,
// response, header field and member of a schema. Prose and examples are not promises.
func gatherOpenAPI(t *testing.T, p *program) (lines []string) {
	for _, place := range []struct {
		at, target string
	}{{"service", "/api/v1/openapi.json"}, {"admin", "/openapi.json"}} {
		var document object
		decode(t, p.responseTo(t, place.at, "GET "+place.target), &document)
		lines = append(lines, fmt.Sprintf("%s openapi %v", place.at, document["openapi"]))
		paths := child(document, "paths")
		for path := range paths {
			for method := range child(paths, path) {
				if method == "parameters" {
					continue
				}
				operation := child(child(paths, path), method)
				lines = append(lines, describeOperation(place.at+" "+strings.ToUpper(method)+" "+path, operation)...)
			}
			lines = append(lines, describeParameters(place.at+" * "+path, child(paths, path))...)
		}
		components := child(document, "components")
		for name := range child(components, "schemas") {
			describeSchema(place.at+" schema "+name, child(components, "schemas")[name], &lines)
		}
		for name := range child(components, "securitySchemes") {
			lines = append(lines, place.at+" security "+name+" "+
				keywords(child(child(components, "securitySchemes"), name)))
		}
	}
	return lines
}

// responseTo returns the body of the response to a request "METHOD TARGET" without further fields.
func (p *program) responseTo(t *testing.T, at, request string) string {
	t.Helper()
	for _, r := range p.requests {
		if r.at == at && r.method+" "+r.target == request && r.body == "" {
			return r.response
		}
	}
	t.Fatalf("%s is in no list of requests", request)
	return ""
}

func describeOperation(prefix string, operation object) []string {
	lines := []string{prefix + " operation " + fmt.Sprint(operation["operationId"])}
	if security, ok := operation["security"]; ok {
		lines = append(lines, prefix+" security "+compact(security))
	}
	lines = append(lines, describeParameters(prefix, operation)...)
	if body := child(operation, "requestBody"); body != nil {
		required := ""
		if body["required"] == true {
			required = " required"
		}
		describeContent(prefix+" body"+required, body, &lines)
	}
	for status := range child(operation, "responses") {
		response := child(child(operation, "responses"), status)
		lines = append(lines, prefix+" "+status)
		describeContent(prefix+" "+status, response, &lines)
		for name := range child(response, "headers") {
			describeSchema(prefix+" "+status+" field "+name, child(child(response, "headers"), name)["schema"], &lines)
		}
	}
	return lines
}

func describeParameters(prefix string, of object) (lines []string) {
	all, _ := of["parameters"].([]any)
	for _, one := range all {
		parameter, _ := one.(object)
		line := fmt.Sprintf("%s %v %v", prefix, parameter["in"], parameter["name"])
		if parameter["required"] == true {
			line += " required"
		}
		describeSchema(line, parameter["schema"], &lines)
	}
	return lines
}

func describeContent(prefix string, of object, lines *[]string) {
	for mediaType := range child(of, "content") {
		describeSchema(prefix+" "+mediaType, child(child(of, "content"), mediaType)["schema"], lines)
	}
}

// describeSchema adds a line for a schema and one for each member below it.
func describeSchema(prefix string, of any, lines *[]string) {
	s, ok := of.(object)
	if !ok {
		*lines = append(*lines, strings.TrimSpace(prefix+" "+compact(of)))
		return
	}
	*lines = append(*lines, strings.TrimSpace(prefix+" "+keywords(s)))
	required, _ := s["required"].([]any)
	for name, member := range child(s, "properties") {
		path := prefix + "." + name
		if slices.Contains(required, any(name)) {
			path += "!"
		}
		describeSchema(path, member, lines)
	}
	for _, below := range []struct{ keyword, mark string }{{"items", "[]"}, {"additionalProperties", ".*"}} {
		if child(s, below.keyword) != nil {
			describeSchema(prefix+below.mark, s[below.keyword], lines)
		}
	}
	for _, keyword := range []string{"oneOf", "anyOf", "allOf"} {
		several, _ := s[keyword].([]any)
		for i, one := range several {
			describeSchema(fmt.Sprintf("%s %s %d", prefix, keyword, i+1), one, lines)
		}
	}
}

// keywords returns the keywords of a schema except prose and subschemas in one line: "string enum=[...]".
func keywords(s object) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(s)) {
		switch name {
		case "description", "title", "summary", "example", "examples",
			"properties", "required", "items", "oneOf", "anyOf", "allOf":
			continue
		case "additionalProperties":
			if _, ok := s[name].(object); ok {
				continue
			}
			words = append(words, name+"="+compact(s[name]))
		case "$ref":
			words = append(words, strings.TrimPrefix(fmt.Sprint(s[name]), "#/components/schemas/"))
		case "type":
			words = append([]string{strings.Trim(compact(s[name]), `"`)}, words...)
		default:
			words = append(words, name+"="+compact(s[name]))
		}
	}
	return strings.Join(words, " ")
}

// child returns a member of an object that is an object, or nil.
func child(of object, name string) object {
	below, _ := of[name].(object)
	return below
}
