"""The judge's rules: each id that a violation may carry, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

RULES: Mapping[str, str] = MappingProxyType(
    {
        # the value as such
        "not-json": "The value is not JSON: a key that is no text, NaN or infinity, a lone surrogate, a value that "
        "contains itself, or an object of the program.",
        "too-large": "The schema is deeper or larger than the judge reads; what lies beyond was not judged.",
        "not-a-schema": "A keyword's value is not of the type that JSON Schema gives it.",
        # keywords
        "keyword-rejected": "The dialect refuses this keyword.",
        "value-rejected": "The dialect takes this keyword, but not with this value.",
        "format-unknown": "The dialect does not know this format.",
        "regex-construct": "The pattern uses a construct that the dialect's engine does not have.",
        "keyword-stray": "A keyword stands beside a `type` that it says nothing about.",
        "list-siblings": "A keyword stands beside a list in `type` that may not stand there.",
        "keyword-conflict": "Two keywords stand on one schema that may not stand together.",
        "pattern-unanchored": "The pattern does not begin with `^` and end with `$`.",
        "description-long": "A description is longer than the dialect takes.",
        # types and literals
        "type-missing": "The schema does not say its type.",
        "type-list": "`type` is a list, and the dialect takes none, or none that names array or object.",
        "boolean-schema": "A boolean stands for a schema where the dialect takes only objects, or `false` where "
        "something must be admitted.",
        "empty-enum": "`enum` is empty, so that nothing can be said.",
        "literal-type": "`enum` or `const` holds a value of a JSON type that the dialect does not take there.",
        "literal-contradiction": "`enum` or `const` holds a value that the `type` beside it excludes.",
        "literal-mixed": "One `enum` holds values of several JSON types (null aside).",
        "literal-empty": "`enum` or `const` holds the empty text.",
        "unsatisfiable": "The keywords of one schema contradict each other, so that nothing can be said.",
        # unions
        "union-siblings": "A keyword stands beside `anyOf` or `oneOf` that may not stand there.",
        "first-key-shared": "Two branches of a union are objects that begin with the same property.",
        # objects and arrays
        "additional-open": "An object does not say `additionalProperties: false`.",
        "required-missing": "A property is optional, and the dialect wants every property required.",
        "required-absent": "An object does not say `required`, if only an empty one.",
        "required-none": "An object requires none of its properties.",
        "required-unknown": "`required` names a property that a closed object does not declare.",
        "properties-missing": "An object does not say `properties`.",
        "object-empty": "An object declares no property.",
        "property-name": "A property's name breaks the dialect's rule for names.",
        "patterns-many": "One `patternProperties` has more patterns than the dialect takes.",
        "counts-with-optional": "`minProperties` or `maxProperties` stands beside properties that are not required.",
        "items-missing": "An array does not say `items`.",
        # references
        "reference-siblings": "A keyword stands beside `$ref` that may not stand there.",
        "reference-dangling": "`$ref` points to nothing.",
        "reference-external": "`$ref` points outside the schema.",
        "reference-target": "`$ref` leads to something else than the root or a definition.",
        "definition-name": "A definition's name breaks the dialect's rule for names.",
        "definitions-place": "Definitions stand elsewhere than at the root.",
        "recursion": "`$ref` leads back to itself.",
        "all-of-reference": "A branch of `allOf` is a `$ref`.",
        # the root
        "root-not-object": "The root does not say `type: object`.",
        "root-keyword": "A keyword stands at the root that may not stand there.",
        # ceilings
        "limit-properties": "More properties than the dialect takes.",
        "limit-depth": "Deeper nesting than the dialect takes.",
        "limit-object-depth": "Deeper nesting of objects than the dialect takes.",
        "limit-json-depth": "The schema's own JSON text nests deeper than the dialect reads.",
        "limit-optional": "More optional properties than the dialect takes.",
        "limit-unions": "More properties with a union than the dialect takes.",
        "limit-union-branches": "A union with more branches than the dialect takes.",
        "limit-item-bounds": "A greater sum of `maxItems` than the dialect takes.",
        "limit-enum-values": "More enum values than the dialect takes.",
        "limit-longest-enum": "More values in one enum than the dialect takes.",
        "limit-name-characters": "More characters in names and literals than the dialect takes.",
        "limit-longest-enum-characters": "A long enum with more characters than the dialect takes.",
        "limit-characters": "A schema whose text has more characters than the dialect takes.",
        "limit-bytes": "A schema whose text has more bytes than the dialect takes.",
        "limit-strict-tools": "More strict tools in one request than the dialect takes.",
        "limit-tools": "More tools in one request than the dialect takes.",
        # the tool
        "tool-name": "The tool's name breaks the dialect's rule for names.",
    }
)
