// Package editor makes the pages by which people edit the registry: what they show and change is done by the service of the registry.
package editor

import "github.com/urnd/urnd/proxy/admin/page"

// Request is a request for a page with forms.
type Request = page.Request
