package httpcache

import (
	"net/http"
	"strings"

	"github.com/dunglas/httpsfv"

	"github.com/urnd/urnd/internal/httpmessage"
)

// safeMethods change nothing on the origin: RFC 9110 section 9.2.1, and the registry of methods.
var safeMethods = [...]string{
	http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, "PROPFIND", "REPORT", "SEARCH", "QUERY", "PRI",
}

// sameByHead reports whether the response to HEAD may be of the stored representation.
func sameByHead(s *response, header httpmessage.Fields) bool {
	if tag := header.Value("Etag"); tag != "" && tag != s.etag {
		return false
	}
	if modified := header.Value("Last-Modified"); modified != "" && modified != s.header.Value("Last-Modified") {
		return false
	}
	length := header.Value("Content-Length")
	return length == "" || s.length < 0 || length == itoa(s.length)
}

// originOf returns the scheme and authority of a canonical URI.
func originOf(key string) string {
	begin := strings.Index(key, "://") + len("://")
	if end := strings.IndexAny(key[begin:], "/?"); end >= 0 {
		return key[:begin+end]
	}
	return key
}

// tags returns the tags of a stored response.
func (s *response) tags() []string {
	var tags []string
	for _, line := range s.header.Lines("Surrogate-Key") {
		tags = append(tags, strings.Fields(line)...)
	}
	for _, line := range s.header.Lines("Cache-Tag") {
		for tag := range strings.SplitSeq(line, ",") {
			tags = append(tags, trimSpace(tag))
		}
	}
	return append(tags, listOf(s.header.Lines("Cache-Groups"))...)
}

// listOf returns the strings of a List of RFC 9651, none where it is invalid.
func listOf(lines []string) []string {
	if len(lines) == 0 {
		return nil
	}
	list, err := httpsfv.UnmarshalList(lines)
	if err != nil {
		return nil
	}
	var texts []string
	for _, member := range list {
		if item, ok := member.(httpsfv.Item); ok {
			if text, ok := item.Value.(string); ok {
				texts = append(texts, text)
			}
		}
	}
	return texts
}
