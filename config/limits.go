package config

// warnOfDocuments warns where limits.documents is not what it bounds: a listing has at most the share of its client, and takes more.
func warnOfDocuments(f *Faults, c Config) {
	share := c.Limits.Documents * Size(c.Limits.ClientShare) / 100
	if c.Gateways.MaxListing > share {
		f.Add("gateways.max_listing", "%s is more than %s, which one client may have of limits.documents: a listing can take "+
			"more memory than is counted",
			show(c.Gateways.MaxListing), show(share))
	}
}
