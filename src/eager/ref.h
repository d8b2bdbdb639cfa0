// Intrusive, non-atomic reference counting: the simulator needs the exact counts that PyTorch's engine looks at.
//
// T has `uint32_t refs` and a free function `void Destroy(T*)` found by argument-dependent look-up, called at zero.
#ifndef MEMCREST_EAGER_REF_H_
#define MEMCREST_EAGER_REF_H_

#include <cstdint>
#include <utility>

namespace memcrest {

template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) {
    if (object_ != nullptr) ++object_->refs;
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() { Drop(); }
  void reset() { Drop(); }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  void Drop() {
    T* object = std::exchange(object_, nullptr);
    if (object != nullptr && --object->refs == 0) Destroy(object);
  }
  T* object_ = nullptr;
};

}  // namespace memcrest

#endif  // MEMCREST_EAGER_REF_H_
