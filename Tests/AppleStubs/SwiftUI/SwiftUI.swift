// The symbols of Apple's SwiftUI that the apps of Examples and of the tutorial use. A body is never run: the tests only check types against
// it. A view builder here takes any views and keeps nothing of them.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import Foundation
@_exported public import UIKit

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder var body: Body { get }
}

extension Never: View, Scene {
    public var body: Never { return fatalError() }
}

public struct EmptyView: View {
    public nonisolated init() {}
    public var body: Never { return fatalError() }
}

@resultBuilder public enum ViewBuilder {
    public static func buildExpression(_ view: some View) -> EmptyView { EmptyView() }
    public static func buildBlock(_ views: EmptyView...) -> EmptyView { EmptyView() }
    public static func buildOptional(_ view: EmptyView?) -> EmptyView { EmptyView() }
    public static func buildEither(first: EmptyView) -> EmptyView { first }
    public static func buildEither(second: EmptyView) -> EmptyView { second }
}

@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
}

@resultBuilder public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ scene: Content) -> Content { scene }
}

@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder var body: Body { get }
    init()
}

extension App {
    public static func main() {}
}

public struct WindowGroup: Scene {
    public init(@ViewBuilder content: () -> EmptyView) {}
    public var body: Never { return fatalError() }
}

public enum ScenePhase: Sendable { case background, inactive, active }

extension Scene {
    public func onChange<Value: Equatable>(of value: Value, perform action: @escaping (Value) -> Void) -> some Scene { self }
}
