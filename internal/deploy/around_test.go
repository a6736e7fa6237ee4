package deploy

import (
	"net/url"
	"slices"
	"strconv"
	"testing"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
)

// checkAround checks that the objects around the pods refer to them.
func (o *objects) checkAround(t *testing.T) {
	t.Helper()
	o.checkServices(t)
	o.checkScaling(t)
	o.checkMonitors(t)
	for _, p := range o.policies {
		o.checkPolicy(t, p)
	}
}

func (o *objects) checkServices(t *testing.T) {
	t.Helper()
	reached := make(map[int32]bool)
	for _, s := range o.services {
		if !matches(s.Spec.Selector, o.deployment(t).Spec.Template.Labels) {
			t.Errorf("the Service %s has no pods", s.Name)
		}
		for _, p := range s.Spec.Ports {
			port := portOf(o.container(t), p.TargetPort.String())
			if reached[port] = true; port == 0 {
				t.Errorf("the Service %s leads to the port %s, which the pods do not have", s.Name,
					p.TargetPort.String())
			}
			if port == adminPort && s.Spec.ClusterIP != core.ClusterIPNone {
				t.Errorf("the Service %s gives the port of administrators an address", s.Name)
			}
		}
	}
	if !reached[servicePort] || !reached[adminPort] {
		t.Errorf("no Service leads to the ports of urnd: %v", reached)
	}
}

// replicas returns the minimum number of pods.
func (o *objects) replicas(t *testing.T) int {
	t.Helper()
	for _, s := range o.scalers {
		return int(*s.Spec.MinReplicas)
	}
	if n := o.deployment(t).Spec.Replicas; n != nil {
		return int(*n)
	}
	return 1
}

func (o *objects) checkScaling(t *testing.T) {
	t.Helper()
	for _, s := range o.scalers {
		target := s.Spec.ScaleTargetRef
		if d := o.deployment(t); target.Kind != "Deployment" || target.APIVersion != "apps/v1" ||
			target.Name != d.Name || d.Spec.Replicas != nil {
			t.Errorf("the target of the scaler is %+v, and the Deployment %s has replicas %v", target, d.Name, d.Spec.Replicas)
		}
		if len(s.Spec.Metrics) != 1 || s.Spec.Metrics[0].Resource.Name != core.ResourceCPU ||
			*s.Spec.MinReplicas > s.Spec.MaxReplicas {
			t.Errorf("it is scaled by %+v", s.Spec)
		}
	}
	for _, b := range o.budgets {
		if !matches(b.Spec.Selector.MatchLabels, o.deployment(t).Spec.Template.Labels) {
			t.Error("the PodDisruptionBudget is about no pods")
		}
		if b.Spec.MaxUnavailable == nil ||
			b.Spec.MaxUnavailable.Type == 0 && b.Spec.MaxUnavailable.IntValue() >= o.replicas(t) {
			t.Errorf("of %d pods %v may be away", o.replicas(t), b.Spec.MaxUnavailable)
		}
	}
}

func (o *objects) checkMonitors(t *testing.T) {
	t.Helper()
	for _, m := range o.monitors {
		for _, e := range m.Spec.Endpoints {
			var ports []int32
			for _, s := range o.services {
				if !matches(m.Spec.Selector.MatchLabels, s.Labels) {
					continue
				}
				for _, p := range s.Spec.Ports {
					if p.Name == e.Port {
						ports = append(ports, portOf(o.container(t), p.TargetPort.String()))
					}
				}
			}
			if !slices.Equal(ports, []int32{adminPort}) || e.Path != "/metrics" {
				t.Errorf("Prometheus asks %s of the ports %v", e.Path, ports)
			}
			credentials := e.Authorization.Credentials
			if !knownSecrets(t)[credentials.Key] || credentials.Name != o.secretName(t) {
				t.Errorf("Prometheus has the token of %+v", credentials)
			}
		}
	}
}

func (o *objects) secretName(t *testing.T) string {
	t.Helper()
	for _, v := range o.deployment(t).Spec.Template.Spec.Volumes {
		if v.Secret != nil {
			return v.Secret.SecretName
		}
	}
	return ""
}

// checkPolicy checks that a NetworkPolicy permits the traffic that urnd needs: to its own ports, to DNS, and to
// the servers of its settings.
func (o *objects) checkPolicy(t *testing.T, p *networking.NetworkPolicy) {
	t.Helper()
	if !matches(p.Spec.PodSelector.MatchLabels, o.deployment(t).Spec.Template.Labels) {
		t.Error("the NetworkPolicy is about no pods")
	}
	if len(p.Spec.PolicyTypes) != 2 {
		t.Errorf("the NetworkPolicy is about %v alone", p.Spec.PolicyTypes)
	}
	var in, out []string
	for _, rule := range p.Spec.Ingress {
		in = append(in, ports(rule.Ports)...)
	}
	for _, rule := range p.Spec.Egress {
		out = append(out, ports(rule.Ports)...)
	}
	if want := []string{"TCP 8141", "TCP 8142"}; !slices.Equal(in, want) {
		t.Errorf("it lets in %q, and should %q", in, want)
	}
	needed := []string{"UDP 53", "TCP 53"}
	if !slices.ContainsFunc(p.Spec.Egress, leadsToNodeCache) {
		t.Error("it does not let out to NodeLocal DNSCache")
	}
	settings := o.configured(t).settings(t)
	for name, usual := range map[string]string{"registry.store": "5432", "cache.shared": "6379"} {
		server, err := url.Parse(settings[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if port := server.Port(); port != "" {
			needed = append(needed, "TCP "+port)
		} else if server.Host != "" {
			needed = append(needed, "TCP "+usual)
		}
	}
	for _, port := range needed {
		if !slices.Contains(out, port) {
			t.Errorf("it does not let out %s, but %q", port, out)
		}
	}
}

// leadsToNodeCache reports whether a rule permits DNS to NodeLocal DNSCache, which listens on an address of
// each node.
func leadsToNodeCache(rule networking.NetworkPolicyEgressRule) bool {
	const usual = "169.254.20.10/32"
	return slices.Equal(ports(rule.Ports), []string{"UDP 53", "TCP 53"}) && (len(rule.To) == 0 ||
		slices.ContainsFunc(rule.To,
			func(p networking.NetworkPolicyPeer) bool { return p.IPBlock != nil && p.IPBlock.CIDR == usual }))
}

// checkConnections checks that all pods, including the additional one during an update, do not exceed the
// connections that PostgreSQL permits.
func (o *objects) checkConnections(t *testing.T, most int) {
	t.Helper()
	pods := o.replicas(t)
	for _, s := range o.scalers {
		pods = int(s.Spec.MaxReplicas)
	}
	settings := o.configured(t).settings(t)
	for _, name := range []string{"registry.store", "registry.replica"} {
		if settings[name] == "" || settings[name] == `""` {
			continue
		}
		server, err := url.Parse(settings[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		pool, err := strconv.Atoi(server.Query().Get("pool_max_conns"))
		if all := (pods + 1) * (pool + 1); err != nil || pool < 2 || all > most {
			t.Errorf("%s: %d pods have %d connections together, of which %d are each one's, %v", name, pods, all,
				pool, err)
		}
	}
}

func ports(all []networking.NetworkPolicyPort) []string {
	var texts []string
	for _, p := range all {
		protocol := core.ProtocolTCP
		if p.Protocol != nil {
			protocol = *p.Protocol
		}
		texts = append(texts, string(protocol)+" "+strconv.Itoa(p.Port.IntValue()))
	}
	return texts
}
