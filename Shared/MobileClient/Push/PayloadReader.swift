internal import Foundation

/// Copies values of unknown types into ``PushPayload/Value``, within the limits of a payload.
struct PayloadReader {
    private var left = PushPayload.maxValues

    mutating func members(of dictionary: [AnyHashable: Any], depth: Int) -> [String: PushPayload.Value] {
        var members: [String: PushPayload.Value] = [:]
        // In order, so that the members that a limit leaves out do not depend on hashing.
        let names = dictionary.keys.compactMap { key in text(key.base).map { (name: $0, key: key) } }.sorted { $0.name < $1.name }
        for (name, key) in names {
            guard left > 0, name.utf8.count <= 256 else { continue }
            members[name] = dictionary[key].flatMap { value($0, depth: depth + 1) }
        }
        return members
    }

    private mutating func value(_ any: Any, depth: Int) -> PushPayload.Value? {
        guard left > 0, depth <= PushPayload.maxDepth else { return nil }
        left -= 1
        if let text = text(any) { return text.utf8.count <= PushPayload.maxTextBytes ? .string(text) : nil }
        if any is NSNull { return .null }
        if let number = any as? NSNumber { return self.number(number) }
        if let object = any as? [AnyHashable: Any] { return .object(members(of: object, depth: depth)) }
        if let object = any as? [String: Any] { return .object(members(of: object, depth: depth)) }
        guard let array = any as? [Any] else { return nil }
        var elements: [PushPayload.Value] = []
        for element in array {
            guard let element = value(element, depth: depth + 1) else { continue }
            elements.append(element)
        }
        return .array(elements)
    }

    private func text(_ any: Any) -> String? {
        if let text = any as? String { return text }
        // On Linux an `NSString` is not a `String`.
        return (any as? NSString).map { "\($0)" }
    }

    private func number(_ number: NSNumber) -> PushPayload.Value? {
        // Foundation's truth values are numbers too; only their type says which a value is ("c", and "B" with the 64-bit ABI).
        if ["c", "B"].contains(String(cString: number.objCType)), number == 0 || number == 1 { return .bool(number.boolValue) }
        let value = number.doubleValue
        return value.isFinite ? .number(value) : nil
    }
}
