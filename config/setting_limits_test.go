package config_test

import "testing"

// What limits.documents bounds has a place in it, and it has one in limits.memory.
func TestWarningsOfDocuments(t *testing.T) {
	const listing, memory = "gateways.max_listing: 200MiB is more than ", "limits.memory: 300MiB is less than 528MiB"
	wantWarnings(t, map[string]string{
		"{limits: {documents: 1MiB}, gateways: {max_listing: 200MiB}}":                                              listing + "256KiB, which one client may have of limits.documents",
		"{limits: {documents: 400MiB}, gateways: {max_listing: 200MiB}}":                                            listing + "100MiB",
		"{limits: {documents: 400MiB, client_share: 50}, gateways: {max_listing: 200MiB}, access: {embedders: []}}": "limits.client_share: is 50 percent",
		"{limits: {documents: 800MiB}, gateways: {max_listing: 200MiB}}":                                            "",
		"limits: {documents: 16MiB}":                 "",
		"limits: {memory: 300MiB}":                   memory,
		"limits: {memory: 528MiB}":                   "",
		"limits: {memory: 300MiB, documents: 16MiB}": "",
	})
}
