// Symbols of Apple's SwiftUI; see SwiftUI.swift.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public struct Text: View {
    public nonisolated init(_ text: some StringProtocol) {}
    public var body: EmptyView { EmptyView() }
}

public struct Image: View {
    public init(uiImage: UIImage) {}
    public func resizable() -> Image { self }
    public var body: EmptyView { EmptyView() }
}

public struct Label: View {
    public init(_ title: some StringProtocol, systemImage name: String) {}
    public var body: EmptyView { EmptyView() }
}

public struct ButtonRole: Sendable {
    public static let destructive = Self()
    public static let cancel = Self()
}

public struct Button: View {
    public init(_ title: some StringProtocol, role: ButtonRole? = nil, action: @escaping @MainActor () -> Void) {}
    public var body: EmptyView { EmptyView() }
}

public struct TextField: View {
    public init(_ title: some StringProtocol, text: Binding<String>) {}
    public var body: EmptyView { EmptyView() }
}

public struct ProgressView: View {
    public init(value: Double?) {}
    public var body: EmptyView { EmptyView() }
}

public struct VStack: View {
    public init(@ViewBuilder content: () -> EmptyView) {}
    public var body: EmptyView { EmptyView() }
}

public struct HStack: View {
    public init(@ViewBuilder content: () -> EmptyView) {}
    public var body: EmptyView { EmptyView() }
}

public struct Form: View {
    public init(@ViewBuilder content: () -> EmptyView) {}
    public var body: EmptyView { EmptyView() }
}

public struct List: View {
    public init<Element, ID: Hashable>(
        _ data: [Element], id: KeyPath<Element, ID>, @ViewBuilder rowContent: @escaping (Element) -> some View
    ) {}
    public var body: EmptyView { EmptyView() }
}

public struct TabView<Selection: Hashable>: View {
    public init(selection: Binding<Selection>?, @ViewBuilder content: () -> EmptyView) {}
    public var body: EmptyView { EmptyView() }
}

public struct TextInputAutocapitalization: Sendable {
    public static var never: Self { Self() }
}

extension View {
    public func padding() -> some View { self }
    public func scaledToFit() -> some View { self }
    public func tabItem(@ViewBuilder _ label: () -> EmptyView) -> some View { self }
    public func tag(_ tag: some Hashable) -> some View { self }
    public func textContentType(_ type: UITextContentType?) -> some View { self }
    public func textInputAutocapitalization(_ autocapitalization: TextInputAutocapitalization?) -> some View { self }
    public func onDisappear(perform action: (() -> Void)? = nil) -> some View { self }
    public func onChange<Value: Equatable>(of value: Value, perform action: @escaping (Value) -> Void) -> some View { self }
    public func task(@_inheritActorContext _ action: @escaping @Sendable () async -> Void) -> some View { self }
    public func task(id: some Equatable, @_inheritActorContext _ action: @escaping @Sendable () async -> Void) -> some View { self }
}
