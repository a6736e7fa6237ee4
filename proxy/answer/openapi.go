package answer

import (
	_ "embed"
	"net/http"

	"github.com/urnd/urnd/proxy/message"
)

// PathOpenAPI is the path of the OpenAPI document of the service.
const PathOpenAPI = "/api/v1/openapi.json"

//go:embed openapi.json
var openAPI []byte

// OpenAPI returns the OpenAPI document of the service.
func OpenAPI() message.Reply {
	return message.Reply{Status: http.StatusOK, ContentType: "application/json", Body: openAPI}
}
