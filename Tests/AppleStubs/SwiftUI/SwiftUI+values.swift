// Symbols of Apple's SwiftUI; see SwiftUI.swift.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@propertyWrapper public struct State<Value> {
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { Binding() }
    public init(wrappedValue: Value) {}
}

extension State where Value: ExpressibleByNilLiteral {
    public init() {}
}

@propertyWrapper @dynamicMemberLookup public struct Binding<Value> {
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public init() {}
    public subscript<Member>(dynamicMember path: WritableKeyPath<Value, Member>) -> Binding<Member> { Binding<Member>() }
}

public protocol ObservableObject: AnyObject {}

// Apple's is of Combine, which SwiftUI exports.
@propertyWrapper public struct Published<Value> {
    public var wrappedValue: Value
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}

@MainActor @propertyWrapper @preconcurrency public struct StateObject<Object: ObservableObject> {
    @dynamicMemberLookup public struct Wrapper {
        public subscript<Member>(dynamicMember path: ReferenceWritableKeyPath<Object, Member>) -> Binding<Member> { Binding<Member>() }
    }
    public var wrappedValue: Object { fatalError() }
    public var projectedValue: Wrapper { Wrapper() }
    public nonisolated init(wrappedValue: @autoclosure @escaping () -> Object) {}
}

public struct EnvironmentValues {
    public var scenePhase: ScenePhase { .active }
}

@propertyWrapper public struct Environment<Value> {
    public var wrappedValue: Value { fatalError() }
    public init(_ path: KeyPath<EnvironmentValues, Value>) {}
}

@MainActor @propertyWrapper @preconcurrency public struct UIApplicationDelegateAdaptor<Delegate: NSObject & UIApplicationDelegate> {
    public var wrappedValue: Delegate { fatalError() }
    public nonisolated init(_ type: Delegate.Type = Delegate.self) {}
}
