// Package config is the configuration of urnd: plain structs, their defaults and
// bounds. It is read at the start and at each reload; only cmd/urnd imports it.
//
// A section has a file of its own, with its struct and the declaration of its settings.
package config

import "slices"

// Config is everything an administrator can set. The zero value is not a
// configuration: begin with Default. Keys of files are the mapstructure tags,
// joined by dots; the environment variable of dns.timeout is URND_DNS_TIMEOUT.
type Config struct {
	Listen     Listen       `mapstructure:"listen"`
	TLS        TLS          `mapstructure:"tls"`
	DNS        DNS          `mapstructure:"dns"`
	DDDS       DDDS         `mapstructure:"ddds"`
	THTTP      THTTP        `mapstructure:"thttp"`
	SLP        SLP          `mapstructure:"slp"`
	Resolve    Resolve      `mapstructure:"resolve"`
	URN        URN          `mapstructure:"urn"`
	Registry   Registry     `mapstructure:"registry"`
	ARK        ARK          `mapstructure:"ark"`
	Cache      Cache        `mapstructure:"cache"`
	CDN        CDN          `mapstructure:"cdn"`
	Site       Presentation `mapstructure:"site"`
	Access     Access       `mapstructure:"access"`
	Proxy      Proxy        `mapstructure:"proxy"`
	Gateways   Gateways     `mapstructure:"gateways"`
	FTP        FTP          `mapstructure:"ftp"`
	News       News         `mapstructure:"news"`
	File       File         `mapstructure:"file"`
	Limits     Limits       `mapstructure:"limits"`
	Reload     Reload       `mapstructure:"reload"`
	Log        Log          `mapstructure:"log"`
	Telemetry  Telemetry    `mapstructure:"telemetry"`
	Namespaces []Namespace  `mapstructure:"namespaces"`
}

// Settings returns all settings, in the order of the file.
func Settings() []Setting {
	return ofSections(slices.Concat(
		listenSettings(),
		tlsSettings(),
		dnsSettings(),
		dddsSettings(),
		thttpSettings(),
		slpSettings(),
		resolveSettings(),
		urnSettings(),
		registrySettings(),
		arkSettings(),
		cacheSettings(),
		cdnSettings(),
		siteSettings(),
		accessSettings(),
		proxySettings(),
		gatewaySettings(),
		ftpSettings(),
		newsSettings(),
		fileSettings(),
		limitSettings(),
		reloadSettings(),
		logSettings(),
		telemetrySettings(),
		namespaceSettings(),
	))
}
