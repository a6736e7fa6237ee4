package answer

import (
	_ "embed"
	"net/http"

	"github.com/urnd/urnd/proxy/message"
)

// PathOpenAPI is where the description of the service is.
const PathOpenAPI = "/api/v1/openapi.json"

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the description of the service.
func OpenAPI() message.Reply {
	return message.Reply{Status: http.StatusOK, ContentType: "application/json", Body: openAPI}
}
