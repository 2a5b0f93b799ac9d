// Command kubernetes renders a Kustomize folder and checks each object: it must decode strictly
// into its Kubernetes type, and its references must exist. It is a separate module, because
// gatewayd needs none of these libraries. It prints the names of the objects.
package main

import (
	"errors"
	"fmt"
	"os"
	"slices"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

func main() {
	if err := check(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// objects contains the rendered objects of a folder, by kind.
type objects struct {
	pods       []pods
	services   []core.Service
	budgets    []policy.PodDisruptionBudget
	policies   []networking.NetworkPolicy
	configMaps []string // namespace/name
}

// pods is the template of a Deployment or StatefulSet.
type pods struct {
	name, namespace string
	replicas        int32
	selector        *meta.LabelSelector
	template        core.PodTemplateSpec
	claims          []core.PersistentVolumeClaim
}

func check(folder string) error {
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return err
	}
	var all objects
	for _, r := range rendered.Resources() {
		text, err := r.AsYAML()
		if err == nil {
			err = all.add(r.GetKind(), text)
		}
		if err != nil {
			return fmt.Errorf("%s %s: %w", r.GetKind(), r.GetName(), err)
		}
		fmt.Println(r.GetKind(), r.GetNamespace(), r.GetName())
	}
	return all.check()
}

func (o *objects) add(kind string, text []byte) error {
	switch kind {
	case "Namespace":
		return yaml.UnmarshalStrict(text, &core.Namespace{})
	case "PodMonitor":
		return nil // its type is not Kubernetes' own
	case "ConfigMap":
		var c core.ConfigMap
		err := yaml.UnmarshalStrict(text, &c)
		o.configMaps = append(o.configMaps, c.Namespace+"/"+c.Name)
		return err
	case "Deployment":
		var d apps.Deployment
		err := yaml.UnmarshalStrict(text, &d)
		o.pods = append(o.pods, pods{d.Name, d.Namespace, *d.Spec.Replicas, d.Spec.Selector, d.Spec.Template, nil})
		return err
	case "StatefulSet":
		var s apps.StatefulSet
		err := yaml.UnmarshalStrict(text, &s)
		o.pods = append(o.pods, pods{s.Name, s.Namespace, *s.Spec.Replicas, s.Spec.Selector, s.Spec.Template, s.Spec.VolumeClaimTemplates})
		return err
	case "Service":
		return decode(text, &o.services)
	case "PodDisruptionBudget":
		return decode(text, &o.budgets)
	case "NetworkPolicy":
		return decode(text, &o.policies)
	}
	return errors.New("unknown kind")
}

func decode[T any](text []byte, list *[]T) error {
	var one T
	err := yaml.UnmarshalStrict(text, &one)
	*list = append(*list, one)
	return err
}

func (o *objects) check() (err error) {
	fault := func(format string, values ...any) { err = errors.Join(err, fmt.Errorf(format, values...)) }
	for _, p := range o.pods {
		for _, f := range p.faults(o.configMaps) {
			fault("%s: %s", p.name, f)
		}
		if p.replicas > 1 && !slices.ContainsFunc(o.budgets, func(b policy.PodDisruptionBudget) bool { return p.matches(b.Namespace, b.Spec.Selector) }) {
			fault("%s: no PodDisruptionBudget", p.name)
		}
		if !slices.ContainsFunc(o.policies, func(n networking.NetworkPolicy) bool { return p.matches(n.Namespace, &n.Spec.PodSelector) }) {
			fault("%s: no NetworkPolicy", p.name)
		}
	}
	for _, s := range o.services {
		selected := meta.LabelSelector{MatchLabels: s.Spec.Selector}
		i := slices.IndexFunc(o.pods, func(p pods) bool { return p.matches(s.Namespace, &selected) })
		if i < 0 {
			fault("service %s selects nothing", s.Name)
			continue
		}
		for _, port := range s.Spec.Ports {
			if !o.pods[i].listens(port.TargetPort.StrVal) {
				fault("service %s: no container has port %s", s.Name, port.TargetPort.StrVal)
			}
		}
	}
	for _, b := range o.budgets {
		if !slices.ContainsFunc(o.pods, func(p pods) bool { return p.matches(b.Namespace, b.Spec.Selector) }) {
			fault("PodDisruptionBudget %s selects nothing", b.Name)
		}
	}
	return err
}

func (p *pods) matches(namespace string, s *meta.LabelSelector) bool {
	selector, err := meta.LabelSelectorAsSelector(s)
	return err == nil && namespace == p.namespace && selector.Matches(labels.Set(p.template.Labels))
}

func (p *pods) listens(port string) bool {
	return slices.ContainsFunc(p.template.Spec.Containers, func(c core.Container) bool {
		return slices.ContainsFunc(c.Ports, func(one core.ContainerPort) bool { return one.Name == port })
	})
}

// faults returns the rules that the pods themselves break.
func (p *pods) faults(configMaps []string) (list []string) {
	fault := func(is bool, text string) {
		if is {
			list = append(list, text)
		}
	}
	spec := p.template.Spec
	fault(!p.matches(p.namespace, p.selector), "its selector does not match its template")
	fault(spec.SecurityContext == nil || spec.SecurityContext.RunAsNonRoot == nil || !*spec.SecurityContext.RunAsNonRoot, "may run as root")
	volumes := map[string]bool{}
	for _, c := range p.claims {
		volumes[c.Name] = true
	}
	for _, v := range spec.Volumes {
		volumes[v.Name] = true
		fault(v.ConfigMap != nil && !slices.Contains(configMaps, p.namespace+"/"+v.ConfigMap.Name), "no ConfigMap of volume "+v.Name)
	}
	for _, c := range spec.Containers {
		s := c.SecurityContext
		fault(s == nil || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem, "its root is writable")
		fault(s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation, "privileges may be gained")
		fault(s == nil || s.Capabilities == nil || !slices.Contains(s.Capabilities.Drop, "ALL"), "has capabilities")
		fault(c.Resources.Requests.Cpu().IsZero() || c.Resources.Limits.Memory().IsZero(), "has no resources")
		for _, m := range c.VolumeMounts {
			fault(!volumes[m.Name], "no volume "+m.Name)
		}
		for name, probe := range map[string]*core.Probe{"readiness": c.ReadinessProbe, "liveness": c.LivenessProbe, "startup": c.StartupProbe} {
			fault(probe == nil, "no probe of "+name)
			if probe != nil && probe.HTTPGet != nil {
				fault(!p.listens(probe.HTTPGet.Port.StrVal), "the probe of "+name+" asks port "+probe.HTTPGet.Port.StrVal)
			}
			if probe != nil && probe.TCPSocket != nil {
				fault(!p.listens(probe.TCPSocket.Port.StrVal), "the probe of "+name+" asks port "+probe.TCPSocket.Port.StrVal)
			}
		}
	}
	return list
}
