package config

import (
	"slices"

	"github.com/goccy/go-yaml/ast"
)

// removedKeys lists keys of earlier versions without an effect, by section. A file with them is
// still valid.
var removedKeys = map[string][]string{"watcher": {"fetch_ahead"}}

// dropRemoved removes such keys from a file, and returns their names.
func dropRemoved(file *ast.File) (found []string) {
	if len(file.Docs) == 0 {
		return nil
	}
	root, ok := file.Docs[0].Body.(*ast.MappingNode)
	if !ok {
		return nil
	}
	for _, section := range root.Values {
		name := section.Key.GetToken().Value
		keys, ok := section.Value.(*ast.MappingNode)
		if !ok || removedKeys[name] == nil {
			continue
		}
		keys.Values = slices.DeleteFunc(keys.Values, func(v *ast.MappingValueNode) bool {
			key := v.Key.GetToken().Value
			removed := slices.Contains(removedKeys[name], key)
			if removed {
				found = append(found, name+"."+key)
			}
			return removed
		})
	}
	return found
}
