package forward

import (
	"net/http"

	"github.com/urnd/urnd/cache/httpcache"
)

// cacheWord returns the outcome of a request with regard to the HTTP cache in one word, for logs.
func cacheWord(o httpcache.Outcome) string {
	switch {
	case o.Forwarded == "bypass" || o.Forwarded == "method" || o.Forwarded == "" && !o.HasTTL:
		return "bypass"
	case o.Hit() && o.Stale:
		return "stale"
	case o.Hit():
		return "hit"
	case o.OriginStatus == http.StatusNotModified:
		return "revalidated"
	case o.Collapsed:
		return "collapsed"
	default:
		return "miss"
	}
}
