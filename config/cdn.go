package config

import (
	"net/url"
)

// TagsOff is the value of cdn.tags by which answers have none.
const TagsOff = "off"

// checkWebhooks checks URLs without showing them: they may have secrets.
func checkWebhooks(f *Faults, path string, value any) {
	list, _ := value.([]string)
	for i, text := range list {
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
			f.Add(index(path, i), "is not a URL with http:// or https://, a host and no user; its value is not shown, since it may have a secret")
		}
	}
}
