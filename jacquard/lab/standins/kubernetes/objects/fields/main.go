// Command fields prints which spellings of a value Kubernetes' own kinds do not tell apart, for normal.py.
//
// A kind is a type of k8s.io/api. Reading an object into such a type and writing it again drops what is empty and may
// be left out, and writes quantities and bytes in one way. Only the fields where that happens are printed:
//
//	"-"     left out when empty (false, 0, "", no items); may stand before one of the others
//	"q"     a quantity
//	"b"     bytes in base64
//	"[x"    a list of x
//	"{x"    a map to x
//	"name"  a type that has such fields
//
// Run it here: go run . >builtin.json
package main

import (
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
)

var (
	stable = regexp.MustCompile(`^v[0-9]+$`)
	// Types that write themselves, and that nobody spells in two ways.
	opaque = []reflect.Type{
		reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime](), reflect.TypeFor[metav1.Duration](),
		reflect.TypeFor[metav1.FieldsV1](), reflect.TypeFor[runtime.RawExtension](), reflect.TypeFor[intstr.IntOrString](),
	}
	types = map[string]map[string]string{}
)

func main() {
	kinds := map[string]string{}
	for kind, known := range scheme.Scheme.AllKnownTypes() {
		_, isObject := known.FieldByName("ObjectMeta")
		if isObject && stable.MatchString(kind.Version) {
			code := walk(known)
			delete(types[code], "status")
			kinds[kind.GroupVersion().String()+" "+kind.Kind] = code
		}
	}
	forgetPlainTypes()
	for kind, code := range kinds {
		if _, kept := types[code]; !kept {
			delete(kinds, kind)
		}
	}
	dump(kinds)
}

// walk notes the fields of a type and returns its name.
func walk(of reflect.Type) string {
	name := path.Base(path.Dir(of.PkgPath())) + "/" + path.Base(of.PkgPath()) + "." + of.Name()
	if _, seen := types[name]; !seen {
		types[name] = map[string]string{}
		note(of, types[name])
	}
	return name
}

func note(of reflect.Type, fields map[string]string) {
	for index := range of.NumField() {
		field := of.Field(index)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "" && field.Anonymous:
			embedded := field.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			note(embedded, fields)
		case name != "" && name != "-":
			code := spelling(field.Type)
			kinds := []reflect.Kind{reflect.Pointer, reflect.Struct, reflect.Interface}
			if strings.Contains(options, "omitempty") && !slices.Contains(kinds, field.Type.Kind()) {
				code = "-" + code
			}
			if code != "" {
				fields[name] = code
			}
		}
	}
}

func spelling(of reflect.Type) string {
	if of == reflect.TypeFor[resource.Quantity]() {
		return "q"
	}
	if slices.Contains(opaque, of) {
		return ""
	}
	prefix := map[reflect.Kind]string{reflect.Pointer: "", reflect.Slice: "[", reflect.Map: "{"}
	switch kind := of.Kind(); {
	case kind == reflect.Struct:
		return walk(of)
	case kind == reflect.Slice && of.Elem().Kind() == reflect.Uint8:
		return "b"
	case kind == reflect.Pointer || kind == reflect.Slice || kind == reflect.Map:
		if inner := spelling(of.Elem()); inner != "" {
			return prefix[kind] + inner
		}
	}
	return ""
}

// forgetPlainTypes removes the types of which every value has one spelling, until none is left.
func forgetPlainTypes() {
	for again := true; again; {
		again = false
		for _, fields := range types {
			for field, code := range fields {
				name := strings.TrimLeft(code, "-[{")
				inner, isType := types[name]
				if isType && len(inner) == 0 {
					again = true
					if delete(fields, field); strings.HasPrefix(code, "-") {
						fields[field] = "-"
					}
				}
			}
		}
		for name, fields := range types {
			if len(fields) == 0 && !named(name) {
				delete(types, name)
			}
		}
	}
}

func named(name string) bool {
	for _, fields := range types {
		for _, code := range fields {
			if strings.TrimLeft(code, "-[{") == name {
				return true
			}
		}
	}
	return false
}

// dump writes one type a line, so that a newer release shows as a few lines.
func dump(kinds map[string]string) {
	fmt.Print("{\"kinds\": ")
	fmt.Print(lines(kinds))
	fmt.Print(",\n\"types\": ")
	fmt.Print(lines(types))
	fmt.Println("}")
}

func lines[T any](items map[string]T) string {
	var found []string
	for name, item := range items {
		text, err := json.Marshal(map[string]T{name: item})
		if err != nil {
			panic(err)
		}
		found = append(found, string(text[1:len(text)-1]))
	}
	slices.Sort(found)
	return "{\n" + strings.Join(found, ",\n") + "}"
}
